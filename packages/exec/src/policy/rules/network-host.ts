const MAX_HOST = 253

/** A host as rules compare it: lower-case, without a port and without dots at its end. */
export function normalizedHost(given: string): { readonly host: string } | { readonly problem: string } {
  const trimmed = given.trim().toLowerCase()
  if (trimmed === '') return { problem: 'network_rule host cannot be empty' }
  if (trimmed.length > MAX_HOST + 8) return { problem: 'network_rule host is too long' }
  if (trimmed.includes('*')) return { problem: 'network_rule host must be a specific host; wildcards are not allowed' }
  if (/[/?#@\\]/.test(trimmed)) {
    return { problem: 'network_rule host must be a host name or an address, without scheme, path, query or fragment' }
  }
  if (/[\s\p{Cc}]/u.test(trimmed)) return { problem: 'network_rule host cannot contain whitespace' }
  const host = withoutPort(trimmed)?.replace(/\.{1,253}$/, '')
  if (!host || host.length > MAX_HOST) return { problem: `network_rule host is not valid: ${JSON.stringify(trimmed)}` }
  return { host }
}

/** An address of version 6 has colons of its own: they are told from a port by their number, or by brackets. */
function withoutPort(text: string): string | undefined {
  const bracketed = /^\[([0-9a-f:.]+)\](?::[0-9]{1,5})?$/.exec(text)
  if (bracketed) return bracketed[1]
  if (/[[\]]/.test(text)) return undefined
  const colons = text.split(':').length - 1
  if (colons === 0) return text
  if (colons > 1) return /^[0-9a-f:.]+$/.test(text) ? text : undefined
  return /^(.+):[0-9]{1,5}$/.exec(text)?.[1]
}
