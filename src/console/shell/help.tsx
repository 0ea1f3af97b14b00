import './help.css'
import { PAGES } from '../pages.js'
import { Dialog, ScrollFrame } from '../ui/parts.js'

type Shortcut = readonly [keys: readonly string[], action: string]

const EVERYWHERE: readonly Shortcut[] = [
  [['Ctrl K', '⌘ K'], 'find a page, a space or a command'],
  [['?'], 'show these keys'],
  [['Esc'], 'close the dialog'],
  [['←', '→'], 'go to the previous or next tab'],
]
const ASK: readonly Shortcut[] = [
  [['Enter'], 'ask'],
  [['Shift Enter'], 'start a new line'],
]
const REVIEW: readonly Shortcut[] = [
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
        <ShortcutList title="Everywhere" shortcuts={EVERYWHERE} />
        <ShortcutList title="Go to" shortcuts={PAGES.map(({ key, title }) => [[`g ${key}`], title] as const)} />
        <ShortcutList title="Question" shortcuts={ASK} />
        <ShortcutList title="Review of failed queries" shortcuts={REVIEW} />
      </ScrollFrame>
    </Dialog>
  )
}

function ShortcutList({ title, shortcuts }: { title: string; shortcuts: readonly Shortcut[] }) {
  return (
    <section>
      <h3>{title}</h3>
      <dl className="help-keys">
        {shortcuts.map(([keys, action]) => (
          <div key={action}>
            <dt>
              {keys.map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{action}</dd>
          </div>
        ))}
      </dl>
    </section>
  )
}
