/** The lines of a part of a document, with the next one to read. */
export class LineCursor {
  readonly all: readonly string[]
  next = 0

  constructor(lines: readonly string[]) {
    this.all = lines
  }

  /** The next line; undefined at the end. */
  get line(): string | undefined {
    return this.all[this.next]
  }

  peek(ahead: number): string {
    return this.all[this.next + ahead] ?? ''
  }

  skipBlank(): void {
    while (this.line !== undefined && isBlank(this.line)) this.next++
  }

  takeWhile(isTaken: (line: string) => boolean): string[] {
    const start = this.next
    while (this.line !== undefined && isTaken(this.line)) this.next++
    return this.all.slice(start, this.next)
  }

  /** The lines up to a blank one. */
  takeParagraph(): string[] {
    return this.takeWhile((line) => !isBlank(line))
  }

  /** The lines up to a blank or an indented one. */
  takeUnindented(): string[] {
    return this.takeWhile((line) => !isBlank(line) && !line.startsWith(' '))
  }

  /** The indented lines that follow, without their common indentation. */
  takeIndented(): string[] {
    return removeIndent(this.takeWhile((line) => isBlank(line) || line.startsWith(' ')))
  }

  /** The rest of the next line, and the indented lines after it without their common indentation. */
  takeFirstIndented(offset: number): string[] {
    const first = (this.line ?? '').slice(offset)
    this.next++
    return [first, ...this.takeIndented()]
  }

  /** The rest of the next line, and the lines after it that are indented at least as far. */
  takeKnownIndented(offset: number): string[] {
    const first = (this.line ?? '').slice(offset)
    this.next++
    const indent = ' '.repeat(offset)
    const rest = this.takeWhile((line) => isBlank(line) || line.startsWith(indent))
    return [first, ...removeTrailingBlank(rest).map((line) => line.slice(offset))]
  }
}

export function isBlank(line: string): boolean {
  return line.trim() === ''
}

/** Removes the common indentation, and blank lines at the end. */
function removeIndent(lines: string[]): string[] {
  let indent = Number.POSITIVE_INFINITY
  for (const line of lines) if (!isBlank(line)) indent = Math.min(indent, line.length - line.trimStart().length)
  return removeTrailingBlank(lines).map((line) => line.slice(indent))
}

function removeTrailingBlank(lines: string[]): string[] {
  let end = lines.length
  while (end > 0 && isBlank(lines[end - 1] ?? '')) end--
  return lines.slice(0, end)
}
