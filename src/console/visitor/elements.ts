/** Creates an element with properties and children. Never parses markup. */
export function createElement<K extends keyof HTMLElementTagNameMap>(
  name: K,
  properties: Partial<HTMLElementTagNameMap[K]>,
  ...children: (Node | string)[]
): HTMLElementTagNameMap[K] {
  const created = document.createElement(name)
  Object.assign(created, properties)
  created.append(...children)
  return created
}

/** Formats an answer: paragraphs, lists, code and bold text. */
export function formatAnswer(text: string): HTMLElement[] {
  return text
    .split(/\n{2,}/)
    .filter((block) => block.trim() !== '')
    .map((block) => {
      const lines = block.split('\n')
      if (block.startsWith('```'))
        return createElement('pre', {}, lines.filter((line) => !line.startsWith('```')).join('\n'))
      if (lines.every((line) => /^\s*[-*•] /.test(line)))
        return createElement(
          'ul',
          {},
          ...lines.map((line) => createElement('li', {}, ...formatInline(line.replace(/^\s*[-*•] /, '')))),
        )
      return createElement('p', {}, ...formatInline(block.replace(/^#{1,6} /, '')))
    })
}

function formatInline(text: string): (Node | string)[] {
  return text
    .split(/(\*\*[^*\n]+\*\*)/)
    .map((part) => (/^\*\*[^*]+\*\*$/.test(part) ? createElement('strong', {}, part.slice(2, -2)) : part))
}
