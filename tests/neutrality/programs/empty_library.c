/* A library to open and close. */
int empty_library(void);
int empty_library(void) {
    return 1;
}
