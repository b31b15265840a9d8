export { MACOS_PLATFORM_DIRECTORIES } from './base-profile.ts'
export { seatbeltCommand } from './seatbelt-command.ts'
export { type SeatbeltOptions, type SeatbeltProfile, seatbeltProfile } from './seatbelt-profile.ts'
