/** Creates an element with properties and children. Never parses markup. */
export function element<K extends keyof HTMLElementTagNameMap>(
  name: K,
  properties: Partial<HTMLElementTagNameMap[K]>,
  ...children: (Node | string)[]
): HTMLElementTagNameMap[K] {
  const made = document.createElement(name)
  Object.assign(made, properties)
  made.append(...children)
  return made
}

/** Formats an answer: paragraphs, lists, code and bold text. */
export function textBlocks(text: string): HTMLElement[] {
  return text
    .split(/\n{2,}/)
    .filter((block) => block.trim() !== '')
    .map((block) => {
      const lines = block.split('\n')
      if (block.startsWith('```')) return element('pre', {}, lines.filter((line) => !line.startsWith('```')).join('\n'))
      if (lines.every((line) => /^\s*[-*•] /.test(line)))
        return element('ul', {}, ...lines.map((line) => element('li', {}, ...inline(line.replace(/^\s*[-*•] /, '')))))
      return element('p', {}, ...inline(block.replace(/^#{1,6} /, '')))
    })
}

function inline(text: string): (Node | string)[] {
  return text
    .split(/(\*\*[^*\n]+\*\*)/)
    .map((part) => (/^\*\*[^*]+\*\*$/.test(part) ? element('strong', {}, part.slice(2, -2)) : part))
}
