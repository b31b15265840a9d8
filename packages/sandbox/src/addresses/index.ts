export { contains, type IpAddress, type IpRange, parseAddress, range } from './ip-address.ts'
export { METADATA, TRANSLATED } from './known-ranges.ts'
