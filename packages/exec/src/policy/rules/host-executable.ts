import { Arguments, kindOf } from '../language/arguments.ts'
import type { Call } from '../language/parser.ts'
import { excerpt, Refusal } from '../language/refusal.ts'
import type { HostExecutable, Origin } from './rule.ts'

export function hostExecutable(call: Call, origin: Origin): HostExecutable {
  const args = new Arguments(call, { positional: ['name', 'paths'] })
  const name = args.string('name')
  if (name === '' || /[/\\]/.test(name) || name === '.' || name === '..') {
    throw new Refusal(args.offset('name'), `host_executable name must be a bare file name (got ${shown(name)})`)
  }
  args.required('paths')
  const paths = args.list('paths').map((item) => {
    if (item.kind !== 'string') throw new Refusal(item.offset, `\`paths\` is a list of strings (got ${kindOf(item)})`)
    const { value: path, offset } = item
    if (!path.startsWith('/')) throw new Refusal(offset, `host_executable paths must be absolute (got ${shown(path)})`)
    if (!path.endsWith(`/${name}`)) throw new Refusal(offset, `${shown(path)} does not end in the name \`${name}\``)
    return path
  })
  return { kind: 'host-executable', name, paths: [...new Set(paths)], origin }
}

function shown(text: string): string {
  return JSON.stringify(excerpt(text))
}
