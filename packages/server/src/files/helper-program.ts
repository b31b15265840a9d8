export { serveFileHelper } from './helper-service.ts'
export { WRITABLE_PATHS } from './writable-paths.ts'
