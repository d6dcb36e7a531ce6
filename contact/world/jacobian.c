/* The nodes (bodies, chains of joints) whose velocities a contact changes, their Jacobians J and Y
 * = M^-1 J^T, and S = J Y. */
#include <string.h>
#include "contact/linear.h"
#include "contact/world/hand_internal.h"
#include "contact/world/rows_internal.h"
#include "contact/world/world_internal.h"

/* Largest number of chains of the coordinates that move a link of a hand. */
static int max_chains_from_link_to_base(const struct tact_hand *hand)
{
    int max = 0;
    for (int i = 0; i < hand->count; i++) {
        int count = 0;
        for (int j = hand->links[i].deepest, last = -1; j >= 0; j = hand->up[j]) {
            int index_of_link_chain = hand->links[j].slot / TACT_UNKNOWNS_PER_NODE;
            count += index_of_link_chain != last;
            last = index_of_link_chain;
        }
        max = count > max ? count : max;
    }
    return max;
}

void tact_world_number_elimination_nodes(struct tact_world *world)
{
    int max = 1;
    world->node_count = world->body_count;
    for (int i = 0; i < world->hand_count; i++) {
        struct world_hand *hand = &world->hands[i];
        int coordinate_chain_count = max_chains_from_link_to_base(hand->hand);
        hand->node = world->node_count;
        world->node_count += hand->hand->coordinate_chain_count;
        max = coordinate_chain_count > max ? coordinate_chain_count : max;
    }
    world->max_nodes = 2 * max;
}

/* The entry of a node in a contact's block; where the block does not have it, the one after the
 * last. */
static struct block_jacobian_node *find_block_node(const struct block *block, int node)
{
    int k = 0;
    while (k < block->node_count && block->nodes[k].node != node) {
        k++;
    }
    return &block->nodes[k];
}

/* Adds a node with at least so many unknowns to a contact's block, unless the block has it already.
 */
static struct block_jacobian_node *add_jacobian_node_to_block(struct block *block, int node,
                                                              double *v, int dof)
{
    struct block_jacobian_node *out = find_block_node(block, node);
    if (out == &block->nodes[block->node_count]) {
        block->node_count++;
        out->dof = 0;
        out->rows = NULL;
    }
    out->node = node;
    out->v = v;
    out->dof = dof > out->dof ? dof : out->dof;
    return out;
}

/* Adds the nodes of a body, or of a hand's link the chains of the coordinates that move it. */
static void add_owner_nodes(struct tact_world *world, struct block *block, struct tact_owner owner)
{
    if (owner.kind == TACT_OWNER_BODY) {
        add_jacobian_node_to_block(block, owner.index, world->bodies[owner.index].body.twist,
                                   TACT_UNKNOWNS_PER_NODE);
    } else if (owner.kind == TACT_OWNER_HAND) {
        const struct world_hand *h = &world->hands[owner.index];
        for (int i = h->hand->links[owner.link].deepest; i >= 0; i = h->hand->up[i]) {
            int slot = h->hand->links[i].slot, index_of_link_chain = slot / TACT_UNKNOWNS_PER_NODE;
            const int at = TACT_UNKNOWNS_PER_NODE * index_of_link_chain;
            struct block_jacobian_node *node = add_jacobian_node_to_block(
                block, h->node + index_of_link_chain, h->hand->w + at, slot - at + 1);
            if (world->bounds.hands[owner.index].count) {
                node->rows = world->storage_of_joint_rows + (node - world->storage_of_block_nodes);
                node->rows->rate_changes_of_locked_coordinates =
                    h->hand->rate_changes_of_locked_coordinates + at;
            }
        }
    }
}

void tact_block_list_owner_nodes(struct tact_world *world, struct block *block)
{
    const struct tact_contact *c = &world->contacts[block->contact];
    block->nodes = world->storage_of_block_nodes + (block - world->blocks) * world->max_nodes;
    block->node_count = 0;
    block->owner[0] = world->shapes[c->a].owner;
    block->owner[1] = world->shapes[c->b].owner;
    add_owner_nodes(world, block, block->owner[0]);
    add_owner_nodes(world, block, block->owner[1]);
}

/* Adds to J of a free body the wrench of a unit impulse along each axis of the frame. */
static void add_body_jacobian(const struct tact_body *body, const struct tact_patch *patch,
                              double sign, double *j)
{
    double arm[3], torque[3];
    tact_v3_sub(arm, patch->center, body->pose.position);
    for (int i = 0; i < 3; i++) {
        const double *axis = patch->frame + 3 * i;
        tact_v3_cross(torque, arm, axis);
        for (int k = 0; k < 3; k++) {
            j[k * 6 + i] += sign * axis[k];
            j[(3 + k) * 6 + i] += sign * torque[k];
            j[(3 + k) * 6 + 3 + i] += sign * axis[k];
        }
    }
}

/* Row of a hand's coordinate in the Jacobian of a contact's block. */
static double *contact_jacobian_row_of_coordinate(const struct block *block,
                                                  const struct world_hand *hand, int coordinate)
{
    int slot = hand->hand->links[coordinate].slot;
    return find_block_node(block, hand->node + slot / TACT_UNKNOWNS_PER_NODE)->j +
           6 * (slot % TACT_UNKNOWNS_PER_NODE);
}

/* Adds to a contact's Jacobian the rows of the joints between a link and the base, for the rates of
 * their coordinates.
 */
static void add_hand_jacobian_to_block(const struct world_hand *hand, int link,
                                       const struct tact_patch *patch, double sign,
                                       const struct block *block)
{
    double arm[3], speed[3];
    tact_v3_sub(arm, patch->center, hand->hand->base.position);
    for (int i = link; i >= 0; i = hand->hand->links[i].def.parent) {
        const struct spatial *motion = &hand->hand->links[i].motion;
        const double share = sign * hand->hand->links[i].ratio;
        double *j =
            contact_jacobian_row_of_coordinate(block, hand, hand->hand->links[i].coordinate);
        tact_v3_cross(speed, motion->angular, arm);
        tact_v3_add(speed, speed, motion->linear);
        for (int k = 0; k < 3; k++) {
            j[k] += share * tact_v3_dot(patch->frame + 3 * k, speed);
            j[3 + k] += share * tact_v3_dot(patch->frame + 3 * k, motion->angular);
        }
    }
}

/* Pitch of an elastic wrench, as of a screw thread: its torque about the normal over its normal
 * force. It is 0 where the torsion row has an elastic law of its own. */
static double pitch_of_elastic_wrench(const struct tact_patch *patch)
{
    int is_elastic_wrench_a_screw = patch->law == TACT_LAW_WRENCH && patch->wrench[0] > 0.0 &&
                                    patch->wrench[3] != 0.0 && !(patch->stiffness[21] > 0.0);
    return is_elastic_wrench_a_screw ? patch->wrench[3] / patch->wrench[0] : 0.0;
}

/* Makes the normal row of a contact that of a screw: a normal impulse comes with the torque of the
 * pitch, and the normal velocity includes that of a rotation about the normal. */
static void add_pitch_to_normal_row(struct block *block)
{
    for (int k = 0; k < block->node_count && block->elastic_wrench_pitch != 0.0; k++) {
        double *j = block->nodes[k].j;
        for (int i = 0; i < TACT_UNKNOWNS_PER_NODE; i++) {
            j[6 * i] += block->elastic_wrench_pitch * j[6 * i + 3];
        }
    }
}

void tact_block_assemble_jacobians(struct tact_world *world, struct block *block)
{
    const struct tact_patch *patch = &world->contacts[block->contact].patch;
    block->elastic_wrench_pitch = pitch_of_elastic_wrench(patch);
    for (int k = 0; k < block->node_count; k++) {
        memset(block->nodes[k].j, 0, sizeof block->nodes[k].j);
    }
    for (int k = 0; k < 2; k++) {
        const struct tact_owner owner = block->owner[k];
        double sign = k ? -1.0 : 1.0;
        if (owner.kind == TACT_OWNER_BODY) {
            add_body_jacobian(&world->bodies[owner.index].body, patch, sign,
                              find_block_node(block, owner.index)->j);
        } else if (owner.kind == TACT_OWNER_HAND) {
            add_hand_jacobian_to_block(&world->hands[owner.index], owner.link, patch, sign, block);
        }
    }
    add_pitch_to_normal_row(block);
}

/* Sets the `rows` of the hand on a side of a block to the block's J by joint. */
static void set_contact_jacobian_rows_of_hand(const struct world_hand *hand,
                                              const struct block *block, int side)
{
    const struct tact_owner owner = block->owner[side], other = block->owner[!side];
    int is_hand_on_both_sides = other.kind == owner.kind && other.index == owner.index;
    memset(hand->hand->rows, 0, (size_t)hand->hand->count * sizeof *hand->hand->rows);
    for (int k = 0; k < 1 + is_hand_on_both_sides; k++) {
        int link = k ? other.link : owner.link;
        for (int i = hand->hand->links[link].deepest; i >= 0; i = hand->hand->up[i]) {
            hand->hand->rows[i] = contact_jacobian_row_of_coordinate(block, hand, i);
        }
    }
}

static void compute_mobility_columns(const struct tact_world *world,
                                     struct block_jacobian_node *node)
{
    if (node->node >= world->body_count) {
        memcpy(node->y, node->j, sizeof node->y);
        return;
    }
    const struct tact_body *body = &world->bodies[node->node].body;
    double inverse_body_mass = 1.0 / body->mass;
    for (int i = 0; i < 18; i++) {
        node->y[i] = node->j[i] * inverse_body_mass;
    }
    tact_rows_multiply_3x3(node->y + 18, body->inverse_world, node->j + 18);
}

void tact_block_assemble_mobility(struct tact_world *world, struct block *block)
{
    double *s = block->local.s;
    int body = block->owner[0].kind == TACT_OWNER_BODY || block->owner[1].kind == TACT_OWNER_BODY;
    memset(s, 0, sizeof block->local.s);
    for (int k = 0; k < block->node_count; k++) {
        struct block_jacobian_node *node = &block->nodes[k];
        node->newton_step_jacobian = node->j;
        node->newton_step_unknown_count = node->dof;
        if (node->rows) {
            memcpy(node->rows->j, node->j, sizeof node->j);
        }
    }
    block->joint_mobility_along_normal = 0.0;
    for (int k = 0; k < 2; k++) {
        if (tact_block_has_hand_on_side(block, k)) {
            const struct world_hand *hand = &world->hands[block->owner[k].index];
            set_contact_jacobian_rows_of_hand(hand, block, k);
            block->joint_mobility_along_normal +=
                body ? 0.0 : tact_joint_mobility_along_normal(hand->hand);
            tact_hand_apply_inverse_transpose_to_rows(hand->hand, hand->hand->rows);
        }
    }
    for (int k = 0; k < block->node_count; k++) {
        struct block_jacobian_node *node = &block->nodes[k];
        compute_mobility_columns(world, node);
        tact_rows_add_to_schur_matrix(s, node->j, node->y, node->dof,
                                      node->node < world->body_count ? 3 : 0);
    }
}
