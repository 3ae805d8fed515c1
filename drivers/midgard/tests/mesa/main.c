/* Feeds programs on the standard input to Mesa's disassembler. A program is the number of its words, the number of the
 * chip, a flag for verbose text, and the words. A line "--" ends the text of each. */

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include "disassemble.h"

int
main(void)
{
   uint32_t header[3];

   while (fread(header, sizeof(header), 1, stdin) == 1) {
      /* The disassembler reads beyond the last constant. */
      uint32_t *words = calloc(header[0] + 16, sizeof(*words));

      if (!words || fread(words, sizeof(*words), header[0], stdin) != header[0])
         return 1;
      disassemble_midgard(stdout, words, header[0] * sizeof(*words), header[1], header[2]);
      puts("--");
      free(words);
   }
   return 0;
}
