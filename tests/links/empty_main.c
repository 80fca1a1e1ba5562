/* empty_main.c - a program that does nothing: what is linked with it is linked whole, and needs what it may use. */
int main(void)
{
    return 0;
}
