import { join } from 'node:path'
import { configDirectory } from '@waldo/environment/node'

/** In the directory of a project: what tools keep there about it, and in that the rules. */
const PROJECT = '.waldo'
export const PROJECT_RULES = [PROJECT, 'rules'] as const

export interface RulePlaces {
  readonly env: Readonly<Record<string, string | undefined>>
  /** The project's directory. Undefined if there is none, or it is not trusted: then its rules do not count. */
  readonly workspace?: string | undefined
  /** `/etc/waldo/rules` if nothing is said. */
  readonly systemDirectory?: string | undefined
}

export interface RuleDirectory {
  readonly layer: 'system' | 'user' | 'project'
  readonly path: string
}

/** Where rules are read from, whether anything is there or not. */
export function ruleDirectories({ workspace, ...places }: RulePlaces): readonly RuleDirectory[] {
  const outside: readonly RuleDirectory[] = [
    { layer: 'system', path: systemDirectory(places) },
    { layer: 'user', path: userDirectory(places) },
  ]
  if (workspace === undefined) return outside
  return [...outside, { layer: 'project', path: join(workspace, ...PROJECT_RULES) }]
}

/** What must not be written by whom the rules are for: the directories, or where they would be made. */
export function rulePaths(places: RulePlaces): readonly string[] {
  const project = places.workspace === undefined ? [] : [join(places.workspace, PROJECT)]
  return [systemDirectory(places), configDirectory(places), ...project]
}

export function userDirectory({ env }: RulePlaces): string {
  return join(configDirectory({ env }), 'rules')
}

function systemDirectory({ systemDirectory: given = '/etc/waldo/rules' }: RulePlaces): string {
  return given
}
