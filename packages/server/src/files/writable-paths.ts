/** The variable that lists the paths which a helper may change files below. */
export const WRITABLE_PATHS = 'WALDO_WRITABLE_PATHS'
