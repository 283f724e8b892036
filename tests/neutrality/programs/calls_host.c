/* SPDX-License-Identifier: Apache-2.0 */
/* Linked to a host. */
long host_run(void);

int main(void) {
    return (int)host_run();
}
