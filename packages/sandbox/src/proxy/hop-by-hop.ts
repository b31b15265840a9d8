import type { HttpField } from './http-field.ts'

/** Meant for the next one on the way, and not for the one at its end. */
const HOP_BY_HOP = [
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'upgrade',
]

/** Says where a body ends. Nobody can declare that to be for us alone: the body is not. */
const FRAMING = ['content-length', 'transfer-encoding']

/** What is to be passed on. `also` is left out, and so is whatever the sender has declared to be for us alone. */
export function endToEnd(fields: readonly HttpField[], also: readonly string[] = []): HttpField[] {
  const listed = fields.flatMap(([name, value]) => (name === 'connection' ? value.toLowerCase().split(',') : []))
  const forUs = listed.map((name) => name.trim()).filter((name) => !FRAMING.includes(name))
  const dropped = new Set([...HOP_BY_HOP, ...also, ...forUs])
  return fields.filter(([name]) => !dropped.has(name))
}
