/** What a shape or a joint of a world is attached to. */
#ifndef TACT_CONTACT_OWNER_H
#define TACT_CONTACT_OWNER_H

/** Kinds of owner: the world, a body, a link of a hand. */
enum tact_owner_kind { TACT_OWNER_FIXED, TACT_OWNER_BODY, TACT_OWNER_HAND };

/** What a shape is attached to. */
struct tact_owner {
    enum tact_owner_kind kind; /**< kind of owner */
    int index; /**< of the body or hand; FIXED: of things that do not move, any number from 0 */
    int link;  /**< of the hand's link */
};

#endif
