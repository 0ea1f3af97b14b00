import { execa } from 'execa'
import { ROOT } from '../lib/daemon.js'
import type { Figure } from '../lib/report.js'

/** `FIGURE referees/articles/f1 {"value":0.956,"bar":"≥ 0.947","pass":true}` */
const FIGURE_LINE = /^FIGURE referees\/(\S+) (\{.*\})$/gm

interface RefereeFigure {
  value: number | null
  /** such as `≥ 0.97`; absent for a figure that is only told */
  bar?: string
  /** number of files or pages */
  of?: number
}

/**
 * Runs external referees, which compare what is read of public files with a truth that nobody of this project wrote.
 *
 * @param program path of the program that scores a built checkout, which `KS_BUILD` names, and prints figures
 * @param names referees to run; all if empty
 */
export async function measureReferees(program: string, names: readonly string[]): Promise<Figure[]> {
  const { stdout } = await execa(program, names, {
    env: { PATH: process.env['PATH'] ?? '', HOME: process.env['HOME'] ?? '', KS_BUILD: ROOT },
    extendEnv: false,
    stderr: 'inherit',
    reject: false,
  })
  return [...stdout.matchAll(FIGURE_LINE)].map(([, name = '', json = '{}']) => toFigure(name, JSON.parse(json)))
}

function toFigure(name: string, { value, bar = '', of }: RefereeFigure): Figure {
  const [, sign, limit] = /^([≤≥]) ?(-?[\d.]+)/.exec(bar) ?? []
  return {
    name,
    value: value ?? Number.NaN,
    unit: '',
    ...(limit === undefined ? {} : { bar: sign === '≤' ? { atMost: Number(limit) } : { atLeast: Number(limit) } }),
    ...(of === undefined ? {} : { note: `of ${of}` }),
  }
}
