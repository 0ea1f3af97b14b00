import * as Args from '@oclif/core/args'
import { BaseCommand } from '../../cli/base-command.js'
import { usageError } from '../../cli/cli-error.js'
import { quoteShellWord } from '../../cli/shell-word.js'
import {
  findPackagesFolder,
  getLanguagesFolder,
  isLanguageCode,
  LANGUAGE_SCOPE,
  listInstalledLanguages,
} from '../../local/ocr-languages.js'

export default class LanguagesAdd extends BaseCommand {
  static override summary = 'show how to install another language for text recognition in pictures'
  static override description =
    'Downloads nothing. Codes are those of Tesseract: eng, deu, fra, spa, chi_sim, jpn, jpn_vert, …'
  static override examples = ['<%= config.bin %> languages add deu', '<%= config.bin %> languages add chi_sim --json']
  static override args = { language: Args.string({ required: true, description: 'code of the language' }) }

  async run(): Promise<void> {
    const { args } = await this.parse(LanguagesAdd)
    const { language } = args
    if (!isLanguageCode(language))
      throw usageError(`${JSON.stringify(language)} is not a language code`, 'codes are such as deu, fra or chi_sim')
    const folder = getLanguagesFolder(this.dirs.data)
    const isInstalled = listInstalledLanguages(folder).includes(language)
    const install = `npm install --prefix ${quoteShellWord(findPackagesFolder())} ${LANGUAGE_SCOPE}/${language}`
    const file = `${folder}/${language}.traineddata`
    const use = `ks config set ocrLanguages eng+${language} --daemon`
    if (this.out.isJson) {
      this.out.json({ language, isInstalled, install, file, use })
      return
    }
    if (isInstalled) this.out.line(`${language} is installed`)
    else {
      this.out.line(install)
      this.out.note(`or, without npm, put the data file of Tesseract here: ${file}`)
    }
    this.out.note(`then: ${use}, or …=${language} for one space, and \`ks daemon restart\``)
  }
}
