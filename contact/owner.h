/** The owner of a shape or of a side of a joint: the world, a body, or a link of a hand. */
#ifndef TACT_CONTACT_OWNER_H
#define TACT_CONTACT_OWNER_H

/** Kinds of owner of a shape: the world, a body, a link of a hand. */
enum tact_owner_kind { TACT_OWNER_FIXED, TACT_OWNER_BODY, TACT_OWNER_HAND };

/** Owner of a shape. */
struct tact_owner {
    enum tact_owner_kind kind; /**< kind of owner */
    int index; /**< index of the body or hand; FIXED: any number from 0, equal for shapes of one
                  fixed object */
    int link;  /**< index of the hand's link */
};

#endif
