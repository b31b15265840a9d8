export { AddressPolicy } from './address-policy.ts'
export { HttpClient, type HttpResponse } from './http-client.ts'
export { resolveHeaders } from './resolve-headers.ts'
