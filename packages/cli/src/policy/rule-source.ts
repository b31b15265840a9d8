import { stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { type RuleLayer, STARTER_LAYER } from '@waldo/exec'
import { readNamedRules, readRuleLayers, ruleDirectories } from '@waldo/exec/node'
import type { Flags } from '../flags.ts'
import { UsageError } from '../usage-error.ts'

/** Which rules count. */
export const RULE_FLAGS = { rules: 'texts', 'no-project': 'switch', starter: 'switch', cwd: 'text' } as const
export type RuleFlags = Flags<typeof RULE_FLAGS>

/** Where rules may be written. */
export interface RulePlace {
  readonly layer: string
  readonly path: string
  readonly state: 'read' | 'empty' | 'missing' | 'left out'
}

export interface RuleSource {
  readonly places: readonly RulePlace[]
  readonly layers: readonly RuleLayer[]
}

/** Throws `RulesError` if something cannot be read. */
export async function readRuleSource(flags: RuleFlags, help: string): Promise<RuleSource> {
  if (flags.rules && flags['no-project']) {
    throw new UsageError('--rules and --no-project exclude each other: only what --rules names is read', help)
  }
  const { places, layers } = flags.rules ? await readGiven(flags.rules) : await readLayers(flags)
  if (!flags.starter) return { places, layers }
  const place = { layer: STARTER_LAYER.name, path: 'shipped with waldo', state: 'read' } as const
  return { places: [...places, place], layers: [...layers, STARTER_LAYER] }
}

export function projectDirectory({ cwd = '.' }: RuleFlags): string {
  return resolve(cwd)
}

/** Each is a layer of its own. */
async function readGiven(paths: readonly string[]): Promise<RuleSource> {
  const layers: RuleLayer[] = []
  const places: RulePlace[] = []
  for (const [index, given] of paths.entries()) {
    const layer = paths.length === 1 ? 'given' : `given ${index + 1}`
    const path = resolve(given)
    const read = await readNamedRules(layer, path)
    layers.push(read)
    places.push({ layer, path, state: read.files.length === 0 ? 'empty' : 'read' })
  }
  return { places, layers }
}

async function readLayers(flags: RuleFlags): Promise<RuleSource> {
  const { env } = process
  const workspace = projectDirectory(flags)
  const layers = await readRuleLayers({ env, ...(!flags['no-project'] && { workspace }) })
  const places = ruleDirectories({ env, workspace }).map(async ({ layer, path }): Promise<RulePlace> => {
    const read = layers.find(({ name }) => name === layer)
    if (!read) return { layer, path, state: 'left out' }
    if (read.files.length > 0) return { layer, path, state: 'read' }
    const isThere = await stat(path).catch(() => undefined)
    return { layer, path, state: isThere ? 'empty' : 'missing' }
  })
  return { places: await Promise.all(places), layers }
}
