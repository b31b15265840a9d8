import { InvalidCall } from '../conversation/invalid-call.ts'

/** How many tokens of output a call asks for, if it does. Throws for what is no amount, before anything is done. */
export function outputBudget({ max_output_tokens: tokens }: { readonly max_output_tokens?: number | undefined }) {
  if (tokens === undefined || tokens >= 0) return tokens
  throw new InvalidCall(`\`max_output_tokens\` is ${tokens}: give a number that is not negative`)
}
