import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import * as Args from '@oclif/core/args'
import * as Flags from '@oclif/core/flags'
import { BaseCommand } from '../cli/base-command.js'
import { CliError, usageError } from '../cli/cli-error.js'
import { FORMS, type Form, formPieces, formValue, NOTHING } from '../cli/document/forms.js'
import { onInterrupt } from '../cli/interrupt.js'
import { languagesOfRead } from '../cli/ocr-languages.js'
import { toJson } from '../cli/output.js'
import { Progress } from '../cli/progress.js'
import { type Input, inputsOf } from '../cli/read/inputs.js'
import { type FileRead, openReader, type Reader } from '../cli/read/reader.js'
import { shownOf } from '../cli/read/shown.js'
import { saveBody } from '../cli/save-body.js'
import { ttyName } from '../cli/terminal.js'
import { EXIT } from '../contract/errors.js'

const WHOLE = 'json'
const CHOICES = [...FORMS, WHOLE] as const
const ENDINGS: Readonly<Record<Form | typeof WHOLE, string>> = {
  json: 'json',
  markdown: 'md',
  text: 'txt',
  outline: 'outline.txt',
  tables: 'tables.md',
  pictures: 'pictures.txt',
  pages: 'pages.txt',
}

interface Failure {
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
    '<%= config.bin %> read report.docx notes.txt --out converted',
    '<%= config.bin %> read figures.xlsx --as tables --json',
    '<%= config.bin %> read report.pdf --ocr-languages eng+auto',
    'cat report.pdf | <%= config.bin %> read - --name report.pdf --as outline',
  ]
  static override strict = false
  static override args = { file: Args.string({ required: true, description: 'files; `-` reads stdin' }) }
  static override flags = {
    as: Flags.string({
      options: CHOICES,
      description: 'output form (default: markdown; with --json, the complete result)',
    }),
    name: Flags.string({
      helpValue: 'file',
      description: 'file name for stdin; its extension determines the format',
    }),
    out: Flags.string({
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
    const form = CHOICES.find((one) => one === flags.as)
    const chosen = form ?? (this.out.isJson ? WHOLE : 'markdown')
    if (flags['page-marks'] && chosen !== 'markdown') throw usageError('--page-marks applies only to Markdown')
    const languages = languagesOfRead(flags['ocr-languages'], this.dirs.data, process.env)
    const { files, done } = await inputsOf(argv.map(String), flags.name)
    // Clean-up at a signal: otherwise the reading process would go on, and the temporary file of stdin would stay.
    const end = () => {
      done()
      process.exit(EXIT.terminated)
    }
    process.once('SIGTERM', end).once('SIGHUP', end)
    const interrupt = onInterrupt(this.deadline.signal)
    let reader: Reader | undefined
    try {
      if (flags.out !== undefined) refuseSameNames(files)
      reader = await openReader(interrupt.signal, languages.folder)
      const failed = await this.readAll({ reader, files, languages }, (file) =>
        this.show(file, chosen, flags.out, flags['page-marks']),
      )
      this.conclude(failed, files.length)
    } finally {
      interrupt.done()
      process.off('SIGTERM', end).off('SIGHUP', end)
      await reader?.close()
      done()
    }
  }

  private async readAll(
    { reader, files, languages }: { reader: Reader; files: Input[]; languages: ReturnType<typeof languagesOfRead> },
    show: (file: FileRead) => Promise<void>,
  ): Promise<Failure[]> {
    const failed: Failure[] = []
    for (const { path, filename } of files) {
      let at = ''
      const progress = new Progress({
        stream: process.stderr,
        live: this.out.isErrTerminal && !process.env.CI && process.env.TERM !== 'dumb',
        width: process.stderr.columns || 80,
        view: () => ({ lines: [`Reading    ${ttyName(filename)}${at}`], plain: `reading ${ttyName(filename)}${at}` }),
      })
      if (!this.out.isQuiet) progress.start()
      const result = await reader
        .read(path, filename, languages, ({ unit, at: reached, total }) => {
          at = `, ${unit} ${reached}${total === undefined ? '' : ` of ${total}`}`
        })
        .finally(() => progress.stop())
      if (result.ok) await show(result.file)
      else failed.push(result.failure)
      if (!result.ok && files.length > 1) this.out.warn(`ks: ${result.failure.message}`)
    }
    return failed
  }

  private async show(
    file: FileRead,
    form: Form | typeof WHOLE,
    out: string | undefined,
    pageMarks: boolean,
  ): Promise<void> {
    const folder = `${file.filename}.pictures`
    const shown = shownOf(file, out === undefined ? undefined : { path: join(out, folder), name: folder })
    const { pictures: _bytes, ...whole } = file
    const pieces =
      form === WHOLE
        ? [`${toJson(whole, false)}\n`]
        : this.out.isJson
          ? [`${toJson(formValue(form, shown), false)}\n`]
          : formPieces(form, shown, { unicode: this.out.unicode, pageMarks })
    let isEmpty = true
    const noting = function* () {
      for (const piece of pieces) {
        isEmpty = false
        yield Buffer.from(piece)
      }
    }
    if (out !== undefined) mkdirSync(out, { recursive: true, mode: 0o700 })
    const ending = this.out.isJson ? 'json' : ENDINGS[form]
    const place = out === undefined ? undefined : join(out, `${file.filename}.${ending}`)
    await saveBody(Readable.from(noting()), place, this.between)
    if (isEmpty && form !== WHOLE) this.out.note(`${ttyName(file.filename)}: ${NOTHING[form]}`)
  }

  private conclude(failed: Failure[], all: number): void {
    const [first] = failed
    if (first === undefined) return
    const exit = failed.every(({ code }) => code === 'limit-exceeded' || code === 'timeout')
      ? EXIT.overLimit
      : EXIT.failed
    if (all === 1) throw new CliError(first.message, { code: first.code, exit })
    throw new CliError(`${failed.length} of ${all} files could not be read`, {
      code: 'partly-failed',
      exit: failed.length < all ? EXIT.partial : exit,
    })
  }
}

function refuseSameNames(files: readonly Input[]): void {
  const names = files.map(({ filename }) => filename)
  const twice = names.find((name, place) => names.indexOf(name) !== place)
  if (twice !== undefined)
    throw usageError(`two of the files have the name ${JSON.stringify(twice)}, and one would overwrite the other`)
}
