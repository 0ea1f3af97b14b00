/**
 * How well files are read: `npm run bench:reading` runs `characters`, `cells` and `damaged`, `-- PART` one of them.
 * `-- characters [FOLDER]`, `-- cells [--verbose]`, `-- damaged [COPIES] [SEED] [FOLDER]`, `-- time CHECKOUT [FOLDER]`,
 * `-- referees PROGRAM [NAME…]`.
 */
import { findDataFolder } from './lib/datasets.js'
import { type Figure, report } from './lib/report.js'
import { measureCells } from './reading/cells.js'
import { measureCharacters } from './reading/characters.js'
import { measureDamaged } from './reading/damaged.js'
import { measureReferees } from './reading/referees.js'
import { measureTime } from './reading/time.js'

const PARTS: Record<string, (args: string[]) => Promise<Figure[]>> = {
  characters: ([folder]) => measureCharacters(folder),
  cells: async (args) => {
    const folder = findDataFolder()
    if (folder !== undefined) return await measureCells(folder, { verbose: args.includes('--verbose') })
    process.stdout.write('cells: skipped, no ../shared/data and no KS_SHARED_DATA\n')
    return []
  },
  damaged: ([copies, seed, folder]) => measureDamaged(toNumber(copies), toNumber(seed), folder),
  time: ([checkout, folder]) => {
    if (checkout === undefined) throw new Error('usage: npm run bench:reading -- time CHECKOUT [FOLDER]')
    return measureTime(checkout, folder)
  },
  referees: ([program, ...names]) => {
    if (program === undefined) throw new Error('usage: npm run bench:reading -- referees PROGRAM [NAME…]')
    return measureReferees(program, names)
  },
}

function toNumber(text: string | undefined): number | undefined {
  return text === undefined ? undefined : Number(text)
}

const [part, ...args] = process.argv.slice(2)
if (part !== undefined && PARTS[part] === undefined)
  throw new Error(`${part} is no part; there are ${Object.keys(PARTS).join(', ')}`)
for (const name of part === undefined ? ['characters', 'cells', 'damaged'] : [part])
  report(`reading-${name}`, (await PARTS[name]?.(args)) ?? [])
