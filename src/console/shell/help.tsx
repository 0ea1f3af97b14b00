import './help.css'
import { PAGES } from '../pages.js'
import { Dialog, ScrollFrame } from '../ui/parts.js'

type Key = readonly [keys: readonly string[], does: string]

const EVERYWHERE: readonly Key[] = [
  [['Ctrl K', '⌘ K'], 'find a page, a space or a command'],
  [['?'], 'show these keys'],
  [['Esc'], 'close the dialog'],
  [['←', '→'], 'go to the previous or next tab'],
]
const ASK: readonly Key[] = [
  [['Enter'], 'ask'],
  [['Shift Enter'], 'start a new line'],
]
const REVIEW: readonly Key[] = [
  [['j', 'k'], 'next, previous'],
  [['m'], 'missed: make it a golden question'],
  [['c'], 'not covered'],
  [['i'], 'irrelevant'],
  [['n'], 'write a note'],
]

/** Dialog that lists the keyboard shortcuts. */
export function Help({ onClose }: { onClose: () => void }) {
  return (
    <Dialog title="Keyboard shortcuts" onClose={onClose}>
      <ScrollFrame label="Keys" className="help">
        <Keys title="Everywhere" of={EVERYWHERE} />
        <Keys title="Go to" of={PAGES.map(({ key, title }) => [[`g ${key}`], title] as const)} />
        <Keys title="Question" of={ASK} />
        <Keys title="Review of failed queries" of={REVIEW} />
      </ScrollFrame>
    </Dialog>
  )
}

function Keys({ title, of }: { title: string; of: readonly Key[] }) {
  return (
    <section>
      <h3>{title}</h3>
      <dl className="help-keys">
        {of.map(([keys, does]) => (
          <div key={does}>
            <dt>
              {keys.map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{does}</dd>
          </div>
        ))}
      </dl>
    </section>
  )
}
