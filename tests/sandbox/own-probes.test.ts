import { probeSuite } from './escape/probe-suite.ts'

probeSuite('a sandbox holds what we can think of', 'own-probes.json')
