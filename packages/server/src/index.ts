export { MAX_TTL_MS } from './expiry-queue.ts'
export { type Authenticator, capabilityToken, signedToken } from './listeners/authentication.ts'
export { type ListenAddress, ListenAddressError, parseListenAddress } from './listeners/listen-address.ts'
export { ServeError, type ServeOptions, type Server, serve } from './serve.ts'
