import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import * as Args from '@oclif/core/args'
import * as Flags from '@oclif/core/flags'
import { BaseCommand } from '../cli/base-command.js'
import { CliError, usageError } from '../cli/cli-error.js'
import { type DocumentForm, EMPTY_FORM_MESSAGES, FORMS, renderFormParts, toFormValue } from '../cli/document/forms.js'
import { listenForInterrupt } from '../cli/interrupt.js'
import { localPath, readLocalPath } from '../cli/local-path.js'
import { resolveReadLanguages } from '../cli/ocr-languages.js'
import { toJson } from '../cli/output.js'
import { Progress } from '../cli/progress.js'
import { toDocumentContent } from '../cli/read/file-content.js'
import { type ReadInput, resolveInputs } from '../cli/read/inputs.js'
import { type FileContent, type LocalFileReader, openReader } from '../cli/read/reader.js'
import { saveBody } from '../cli/save-body.js'
import { ttyName } from '../cli/terminal.js'
import { EXIT } from '../contract/errors.js'
import { formatCount, pluralize } from '../lib/text/pluralize.js'

/** The form with everything that was parsed. */
const COMPLETE = 'json'
type OutputForm = DocumentForm | typeof COMPLETE
const OUTPUT_FORMS: readonly OutputForm[] = [...FORMS, COMPLETE]
const EXTENSIONS: Readonly<Record<OutputForm, string>> = {
  json: 'json',
  markdown: 'md',
  text: 'txt',
  outline: 'outline.txt',
  tables: 'tables.md',
  pictures: 'pictures.txt',
  pages: 'pages.txt',
}

interface ReadFailure {
  message: string
  code: string
}

export default class Read extends BaseCommand {
  static override summary = 'parse a file and print it as Markdown, without a space or daemon'
  static override description =
    'Parses every supported format in a separate process without network and write access. Stores nothing. ' +
    'With --json, prints a line of JSON for each file: its title, type, outline, elements and items.'
  static override examples = [
    '<%= config.bin %> read report.pdf',
    '<%= config.bin %> read report.docx notes.txt -o converted',
    '<%= config.bin %> read figures.xlsx --as tables --json',
    '<%= config.bin %> read report.pdf --ocr-languages eng+auto',
    'cat report.pdf | <%= config.bin %> read - --name report.pdf --as outline',
  ]
  static override strict = false
  static override args = { file: Args.string({ required: true, description: 'files; `-` reads stdin' }) }
  static override flags = {
    as: Flags.string({
      options: OUTPUT_FORMS,
      description: 'output form (default: markdown; with --json, the complete result)',
    }),
    name: Flags.string({
      ...localPath,
      helpValue: 'file',
      description: 'file name for stdin; its extension determines the format',
    }),
    output: Flags.string({
      char: 'o',
      aliases: ['out'],
      ...localPath,
      helpValue: 'folder',
      description: 'folder for one output file per input, with its pictures',
    }),
    'ocr-languages': Flags.string({
      helpValue: 'codes',
      description:
        'languages of text in pictures, such as deu+eng or eng+auto (default: the setting ocrLanguages of the daemon)',
    }),
    'page-marks': Flags.boolean({ description: 'add a comment at the start of each page in Markdown' }),
  }

  async run(): Promise<void> {
    const { argv, flags } = await this.parse(Read)
    const form = OUTPUT_FORMS.find((candidate) => candidate === flags.as)
    const outputForm = form ?? (this.out.isJson ? COMPLETE : 'markdown')
    if (flags['page-marks'] && outputForm !== 'markdown') throw usageError('--page-marks applies only to Markdown')
    const languages = resolveReadLanguages(flags['ocr-languages'], this.dirs.data, process.env)
    const { files, cleanUp } = await resolveInputs(
      argv.map((file) => readLocalPath(String(file))),
      flags.name,
    )
    // Without this clean-up at a signal, the reading process would continue and the temporary file of stdin would stay.
    const onSignal = () => {
      cleanUp()
      process.exit(EXIT.terminated)
    }
    process.once('SIGTERM', onSignal).once('SIGHUP', onSignal)
    const interrupt = listenForInterrupt(this.deadline.signal)
    let reader: LocalFileReader | undefined
    try {
      if (flags.output !== undefined) assertDistinctNames(files)
      reader = await openReader(interrupt.signal, languages.folder)
      const failures = await this.readFiles({ reader, files, languages }, (file) =>
        this.printFile(file, { form: outputForm, folder: flags.output, pageMarks: flags['page-marks'] }),
      )
      this.reportFailures(failures, files.length)
    } finally {
      interrupt.stopListening()
      process.off('SIGTERM', onSignal).off('SIGHUP', onSignal)
      await reader?.close()
      cleanUp()
    }
  }

  private async readFiles(
    input: { reader: LocalFileReader; files: ReadInput[]; languages: ReturnType<typeof resolveReadLanguages> },
    printFile: (file: FileContent) => Promise<void>,
  ): Promise<ReadFailure[]> {
    const failures: ReadFailure[] = []
    for (const { path, filename } of input.files) {
      let position = ''
      const progress = new Progress({
        stream: process.stderr,
        live: this.out.isErrTerminal && !process.env.CI && process.env.TERM !== 'dumb',
        width: process.stderr.columns || 80,
        view: () => ({
          lines: [`Reading    ${ttyName(filename)}${position}`],
          plain: `reading ${ttyName(filename)}${position}`,
        }),
      })
      if (!this.out.isQuiet) progress.start()
      const result = await input.reader
        .read(path, filename, input.languages, ({ unit, at: value, total }) => {
          position = `, ${unit} ${value}${total === undefined ? '' : ` of ${total}`}`
        })
        .finally(() => progress.stop())
      if (result.ok) await printFile(result.file)
      else failures.push(result.failure)
      if (!result.ok && input.files.length > 1) this.out.warn(`ks: ${result.failure.message}`)
    }
    return failures
  }

  /** Prints a parsed file to stdout, or writes it with its pictures to the folder. */
  private async printFile(
    file: FileContent,
    { form, folder, pageMarks }: { form: OutputForm; folder: string | undefined; pageMarks: boolean },
  ): Promise<void> {
    const name = `${file.filename}.pictures`
    const content = toDocumentContent(file, folder === undefined ? undefined : { path: join(folder, name), name })
    const { pictures: _bytes, ...result } = file
    const pieces =
      form === COMPLETE
        ? [`${toJson(result)}\n`]
        : this.out.isJson
          ? [`${toJson(toFormValue(form, content))}\n`]
          : renderFormParts(form, content, { unicode: this.out.unicode, pageMarks })
    let isEmpty = true
    const encodePieces = function* () {
      for (const piece of pieces) {
        isEmpty = false
        yield Buffer.from(piece)
      }
    }
    if (folder !== undefined) mkdirSync(folder, { recursive: true, mode: 0o700 })
    const extension = this.out.isJson ? 'json' : EXTENSIONS[form]
    const path = folder === undefined ? undefined : join(folder, `${file.filename}.${extension}`)
    await saveBody(Readable.from(encodePieces()), path, this.outputStage)
    if (form === COMPLETE) return
    if (isEmpty) this.out.note(`${ttyName(file.filename)}: ${EMPTY_FORM_MESSAGES[form]}`)
    const { warnings } = file.metadata
    for (const warning of Array.isArray(warnings) ? warnings : [])
      this.out.note(`${ttyName(file.filename)}: ${String(warning)}`)
  }

  private reportFailures(failures: ReadFailure[], fileCount: number): void {
    const [first] = failures
    if (first === undefined) return
    const exit = failures.every(({ code }) => code === 'limit-exceeded' || code === 'timeout')
      ? EXIT.overLimit
      : EXIT.failed
    if (fileCount === 1) throw new CliError(first.message, { code: first.code, exit })
    throw new CliError(`${formatCount(failures.length)} of ${pluralize(fileCount, 'file')} could not be read`, {
      code: 'partly-failed',
      exit: failures.length < fileCount ? EXIT.partial : exit,
    })
  }
}

function assertDistinctNames(files: readonly ReadInput[]): void {
  const names = files.map(({ filename }) => filename)
  const duplicate = names.find((name, index) => names.indexOf(name) !== index)
  if (duplicate !== undefined)
    throw usageError(`two of the files have the name ${JSON.stringify(duplicate)}, and one would overwrite the other`)
}
