import type { PatchCase } from '../patch-case.ts'
import { adding } from './adding.ts'
import { deleting } from './deleting.ts'
import { endings } from './endings.ts'
import { format } from './format.ts'
import { matching } from './matching.ts'
import { moving } from './moving.ts'
import { paths } from './paths.ts'
import { places } from './places.ts'
import { several } from './several.ts'

/** By subject. */
export const corpus: Readonly<Record<string, readonly PatchCase[]>> = {
  format,
  adding,
  updating: matching,
  places,
  'line endings and encodings': endings,
  moving,
  deleting,
  'several files': several,
  paths,
}
