import * as Flags from '@oclif/core/flags'
import { BaseCommand } from '../cli/base-command.js'
import { ExitWith } from '../cli/cli-error.js'
import { runChecks } from '../cli/doctor/checks.js'
import type { CheckFinding, LanguageRow } from '../cli/json-output/machine.js'
import { findLanguagesInUse } from '../cli/ocr-languages.js'
import { quoteShellWord } from '../cli/shell-word.js'
import { tty } from '../cli/terminal.js'
import { EXIT } from '../contract/errors.js'
import {
  findPackagesFolder,
  getLanguagesFolder,
  LANGUAGE_SCOPE,
  listInstalledLanguages,
} from '../local/ocr-languages.js'

/** Columns for the name of a check. */
const CHECK_WIDTH = 15

export default class Doctor extends BaseCommand {
  static override summary = 'check this installation and suggest fixes; exits with 1 if a check fails'
  static override examples = [
    '<%= config.bin %> doctor',
    '<%= config.bin %> doctor --format json',
    '<%= config.bin %> doctor --languages',
  ]
  static override flags = {
    languages: Flags.boolean({
      description: 'list the languages for text recognition in pictures, and show how to install others',
    }),
  }

  async run(): Promise<void> {
    const { flags } = await this.parse(Doctor)
    if (flags.languages) return await this.listLanguages()
    const allFindings: CheckFinding[] = []
    for await (const finding of runChecks({ dirs: this.dirs, env: process.env, version: this.config.version })) {
      allFindings.push(finding)
      if (this.out.format === 'table') this.printFinding(finding)
    }
    if (this.out.format !== 'table') {
      await this.out.list(allFindings, {
        columns: [{ field: 'check' }, { field: 'state' }, { field: 'found' }, { field: 'fix' }],
        empty: '',
      })
    }
    if (allFindings.some((finding) => finding.state === 'failed')) throw new ExitWith(EXIT.failed)
  }

  private printFinding({ check, state, found, fix }: CheckFinding): void {
    const { ok, warn, bad } = this.out.symbols
    const [mark, colour] = ({ ok: [ok, 'green'], warning: [warn, 'yellow'], failed: [bad, 'red'] } as const)[state]
    this.out.styled(`${this.out.paint(colour, mark)} ${check.padEnd(CHECK_WIDTH)} ${tty(found)}`)
    if (fix !== undefined) this.out.styled(`${' '.repeat(mark.length + 1 + CHECK_WIDTH)} fix: ${tty(fix)}`)
  }

  private async listLanguages(): Promise<void> {
    const used = findLanguagesInUse(this.dirs.data, process.env)
    const folder = getLanguagesFolder(this.dirs.data)
    const rows = listInstalledLanguages(folder).map((language): LanguageRow => {
      return { language, usedBy: used.get(language)?.join(', ') ?? '' }
    })
    await this.out.list(rows, {
      columns: [
        { field: 'language', kind: 'name' },
        { field: 'usedBy', title: 'USED BY' },
      ],
      empty: 'No language is installed.',
    })
    const missing = [...used.keys()].filter((code) => !rows.some(({ language }) => language === code))
    if (missing.length > 0) this.out.note(`configured, but not installed: ${missing.join(', ')}`)
    const install = `npm install --prefix ${quoteShellWord(findPackagesFolder())} ${LANGUAGE_SCOPE}/CODE`
    this.out.note(`install another one, such as deu or chi_sim, by its code of Tesseract: ${install}`)
    this.out.note(`or put its data file here: ${folder}/CODE.traineddata`)
    this.out.note('then: ks config ocrLanguages eng+CODE --daemon, and `ks daemon restart`')
  }
}
