/* never.c - a program that never allocates is listed all the same. */
int main(void)
{
    return 0;
}
