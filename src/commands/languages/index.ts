import { BaseCommand } from '../../cli/base-command.js'
import { findLanguagesInUse } from '../../cli/ocr-languages.js'
import { getLanguagesFolder, listInstalledLanguages } from '../../local/ocr-languages.js'

export default class Languages extends BaseCommand {
  static override summary = 'list the languages for text recognition in pictures on this machine'
  static override aliases = ['languages:list', 'languages:ls']
  static override examples = ['<%= config.bin %> languages', '<%= config.bin %> languages --json']

  async run(): Promise<void> {
    await this.parse(Languages)
    const used = findLanguagesInUse(this.dirs.data, process.env)
    const rows = listInstalledLanguages(getLanguagesFolder(this.dirs.data)).map((language) => ({
      language,
      usedBy: used.get(language)?.join(', ') ?? '',
    }))
    await this.out.list(rows, {
      columns: [
        { field: 'language', kind: 'name' },
        { field: 'usedBy', title: 'USED BY' },
      ],
      empty: 'No language is installed.',
      hint: '`ks languages add deu` shows how to install another one',
    })
    const missing = [...used.keys()].filter((code) => !rows.some(({ language }) => language === code))
    if (missing.length > 0) this.out.note(`configured, but not installed: ${missing.join(', ')}`)
  }
}
