import type { SeatbeltProfile } from './seatbelt-profile.ts'

/** Never looked up: whatever else is called so could be anybody's. */
export const SANDBOX_EXEC = '/usr/bin/sandbox-exec'

/** The command that runs another one under a profile. */
export function seatbeltCommand({ profile, parameters }: SeatbeltProfile, argv: readonly string[]): string[] {
  const definitions = Object.entries(parameters).map(([name, value]) => `-D${name}=${value}`)
  return [SANDBOX_EXEC, '-p', profile, ...definitions, '--', ...argv]
}
