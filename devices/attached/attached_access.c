/* Why a node cannot be opened, and the group or the udev rule that opens it. */
#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "devices/attached/attached_internal.h"

enum { GROUPS = 256 };

/* Whether the user is a member of the group by the system's database, even if this process does not
 * have it yet. */
static bool is_member_of_group(gid_t group)
{
    struct passwd entry;
    struct passwd *found = NULL;
    gid_t groups[GROUPS];
    int count = GROUPS;
    char text[4096];
    if (getpwuid_r(geteuid(), &entry, text, sizeof text, &found) || !found ||
        getgrouplist(entry.pw_name, entry.pw_gid, groups, &count) < 0) {
        return false;
    }
    for (int i = 0; i < count; i++) {
        if (groups[i] == group) {
            return true;
        }
    }
    return false;
}

static void copy_group_name(gid_t group, char *name, size_t size)
{
    struct group entry;
    struct group *found = NULL;
    char text[16384];
    if (getgrgid_r(group, &entry, text, sizeof text, &found) == 0 && found) {
        snprintf(name, size, "%s", found->gr_name);
    } else {
        snprintf(name, size, "%u", (unsigned)group);
    }
}

/* Suggests the group of the node, if it has sufficient rights. */
static void suggest_joining_group_of_node(const char *path, const char *what,
                                          struct tact_attached_access *access)
{
    struct stat st;
    char group[64];
    if (stat(path, &st)) {
        snprintf(access->why, sizeof access->why, "%s: %s", what, strerror(errno));
        return;
    }
    copy_group_name(st.st_gid, group, sizeof group);
    snprintf(access->why, sizeof access->why,
             "%s: permission denied: %s has group %s and mode %04o", what, path, group,
             (unsigned)(st.st_mode & 07777));
    if (st.st_gid == 0 || (st.st_mode & 0060) != 0060) {
        return; /* the group lacks the rights, or is root's, which would grant far more */
    }
    if (is_member_of_group(st.st_gid)) {
        snprintf(access->fix, sizeof access->fix,
                 "log in again: you are a member of the group %s, but not yet in this login",
                 group);
    } else {
        snprintf(access->fix, sizeof access->fix,
                 "sudo usermod -aG %s \"$USER\"; then log in again", group);
    }
}

void tact_attached_explain_access(const char *path, int error, const char *what, const char *rule,
                                  bool has_login_session_at_seat,
                                  struct tact_attached_access *access)
{
    if (error == -EPERM) {
        snprintf(access->why, sizeof access->why,
                 "%s: the kernel refuses %s even to its owner, as in a container that was started "
                 "without the device",
                 what, path);
        snprintf(access->fix, sizeof access->fix, "docker run --device %s ...", path);
        return;
    }
    if (error == -ENODEV || error == -ENXIO) {
        snprintf(access->why, sizeof access->why,
                 "no driver is attached to this node, and the kernel detects no card by itself");
        snprintf(access->fix, sizeof access->fix, "sudo comedi_config %s DRIVER [OPTION,...]",
                 path);
        return;
    }
    if (error != -EACCES) {
        snprintf(access->why, sizeof access->why, "%s: %s", what, strerror(-error));
        return;
    }
    suggest_joining_group_of_node(path, what, access);
    if (has_login_session_at_seat) {
        tact_attached_append_text(access->why, sizeof access->why,
                                  "; it is open to who sits at the machine, which you do not");
    } else if (rule[0]) {
        snprintf(
            access->rule, sizeof access->rule,
            "echo '%s, TAG+=\"uaccess\"' | sudo tee -a /etc/udev/rules.d/70-tact-local.rules; sudo "
            "udevadm control --reload; sudo udevadm trigger",
            rule);
    }
}
