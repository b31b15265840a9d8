import { statSync } from 'node:fs'
import { resolve } from 'node:path'

/** A tree of control groups, and where in it this process is. */
export interface Hierarchy {
  readonly version: 1 | 2
  /** Version 1 has them fixed per tree. In version 2 each group says which it has. */
  readonly controllers: readonly string[]
  readonly mount: string
  /** The directory of our own group, or that of the mount, where our own cannot be seen. */
  readonly own: string
}

/** What `/proc/self` says about control groups. */
export interface CgroupView {
  readonly mountinfo: string
  readonly membership: string
}

export function readHierarchies({ mountinfo, membership }: CgroupView): Hierarchy[] {
  const ours = readMembership(membership)
  return mountinfo.split('\n').flatMap((line) => {
    const [place = '', filesystem = ''] = line.split(' - ')
    const [type, , options = ''] = filesystem.split(' ')
    if (type !== 'cgroup' && type !== 'cgroup2') return []
    const version = type === 'cgroup2' ? 2 : 1
    const [, , , root = '', mount = ''] = place.split(' ').map(unescapeOctal)
    const names = version === 2 ? [''] : options.split(',')
    const controller = names.find((name) => ours.has(name))
    if (controller === undefined) return []
    const own = ownDirectory({ mount, root, path: ours.get(controller)! })
    return [{ version, controllers: version === 2 ? [] : names, mount, own }]
  })
}

/** From the name of a controller to our path in its tree; version 2 has the empty name. */
function readMembership(text: string): Map<string, string> {
  const paths = new Map<string, string>()
  for (const line of text.split('\n')) {
    const [, names, path] = /^\d+:([^:]*):(.*)$/.exec(line) ?? []
    if (names !== undefined) for (const name of names.split(',')) paths.set(name, path!)
  }
  return paths
}

/** In a container the mount shows a part of the tree only, while our path may be that of the whole. */
function ownDirectory({ mount, root, path }: { mount: string; root: string; path: string }): string {
  const inside =
    root === '/' ? path : path === root || path.startsWith(`${root}/`) ? path.slice(root.length) : undefined
  // A path that leads up and out of the namespace of control groups is one that we cannot name.
  if (inside === undefined || inside.startsWith('/..')) return mount
  const own = resolve(mount, `.${inside}`)
  return statSync(own, { throwIfNoEntry: false })?.isDirectory() ? own : mount
}

function unescapeOctal(text: string): string {
  return text.replace(/\\([0-7]{3})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 8)))
}
