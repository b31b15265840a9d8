import { probeSuite } from './escape/probe-suite.ts'

probeSuite('a sandbox holds what the field tries', 'escape-probes.json')
