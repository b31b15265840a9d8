export { AddressPolicy } from './address-policy.ts'
export { Deadline } from './deadline.ts'
export { HttpClient, type HttpResponse } from './http-client.ts'
export { resolveHeaders } from './resolve-headers.ts'
