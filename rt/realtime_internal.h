/* Fixes that both the real-time report and the doctor suggest. */
#ifndef TACT_RT_REALTIME_INTERNAL_H
#define TACT_RT_REALTIME_INTERNAL_H

#define TACT_FIX_RTPRIO                                                                            \
    "echo \"$USER - rtprio 95\" | sudo tee -a /etc/security/limits.d/95-tact.conf; log in again"
#define TACT_FIX_RTPRIO_GROUP                                                                      \
    "leave the cpu control group (RT_GROUP_SCHED): echo $$ | sudo tee /sys/fs/cgroup/cpu/tasks; "  \
    "in a container: docker run --cap-add=sys_nice --ulimit rtprio=95"
#define TACT_FIX_MEMLOCK                                                                           \
    "echo \"$USER - memlock unlimited\" | sudo tee -a /etc/security/limits.d/95-tact.conf; "       \
    "log in again"
#define TACT_FIX_DMA_LATENCY                                                                       \
    "sudo groupadd -f -r tact; sudo usermod -aG tact \"$USER\"; "                                  \
    "echo 'KERNEL==\"cpu_dma_latency\", GROUP=\"tact\"' | sudo tee "                               \
    "/etc/udev/rules.d/95-tact.rules; sudo udevadm control --reload; "                             \
    "sudo udevadm trigger --name-match=cpu_dma_latency; log in again"
#define TACT_FIX_DMA_LATENCY_ABSENT                                                                \
    "in a container: docker run --device /dev/cpu_dma_latency; else boot with "                    \
    "processor.max_cstate=1 intel_idle.max_cstate=0"

#endif
