/* Loads that a contact transmits, from the impulse of its patch. */
#ifndef TACT_VIEWER_CONTACT_LOADS_H
#define TACT_VIEWER_CONTACT_LOADS_H

/* Normal force and friction [N]; torsion about the normal through the centre of pressure, where its
 * limit applies [N m]; the centre of pressure from the patch's centre, along its tangents [m]. */
struct contact_loads {
    double normal, friction, torsion, center_of_pressure[2];
};

/* impulse: in the axes of the patch and about its centre, normal first [N s, N m s]. Without a
 * normal impulse the centre of pressure is the patch's centre. */
struct contact_loads compute_contact_loads(const double impulse[6], double period);

#endif
