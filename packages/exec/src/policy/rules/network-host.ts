import { domainPattern } from '@waldo/protocol'

const MAX_SHOWN = 300

/** A host as a proxy compares it. A port is left out: a rule is for all of them. */
export function ruleHost(given: string): { readonly host: string } | { readonly problem: string } {
  const text = given.trim()
  if (text === '') return { problem: 'network_rule host cannot be empty' }
  if (text.includes('*')) return { problem: 'network_rule host must be a specific host; wildcards are not allowed' }
  if (/[/?#@\\]/.test(text)) {
    return { problem: 'network_rule host must be a host name or an address, without scheme, path, query or fragment' }
  }
  if (/[\s\p{Cc}]/u.test(text)) return { problem: 'network_rule host cannot contain whitespace' }
  const pattern = domainPattern(text)
  if (!pattern) return { problem: `network_rule host is not valid: ${JSON.stringify(text.slice(0, MAX_SHOWN))}` }
  return { host: pattern.host }
}
