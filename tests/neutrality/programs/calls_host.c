/* Linked to a host. */
long host_run(void);

int main(void) {
    return (int)host_run();
}
