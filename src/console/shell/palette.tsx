import { type KeyboardEvent, useMemo, useState } from 'react'
import { signOut } from '../api/session.js'
import { rememberSpace, useSpace } from '../api/space.js'
import { PAGES } from '../pages.js'
import { navigate, pageHref } from '../router.js'
import { Icon, type IconName } from '../ui/icon.js'
import { Dialog } from '../ui/parts.js'
import { setTheme, THEMES } from './theme.js'

interface PaletteCommand {
  id: string
  title: string
  group: string
  icon: IconName
  /** keyboard shortcut, shown instead of the group */
  keys?: string
  run: () => void
}

const MAX_RESULTS = 12

/** Command palette: finds pages, spaces and commands of the shell by name. */
export function Palette({ onClose, onHelp }: { onClose: () => void; onHelp: () => void }) {
  const commands = useCommands(onHelp)
  const [text, setText] = useState('')
  const [activeIndex, setActiveIndex] = useState(0)
  const results = useMemo(
    () => commands.filter((command) => matchesText(command, text)).slice(0, MAX_RESULTS),
    [commands, text],
  )
  const selectedIndex = Math.min(activeIndex, results.length - 1)
  const selected = results[selectedIndex]

  const run = (command: PaletteCommand | undefined) => {
    if (command === undefined) return
    onClose()
    command.run()
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0
    if (step !== 0) {
      event.preventDefault()
      setActiveIndex((selectedIndex + step + results.length) % Math.max(results.length, 1))
    } else if (event.key === 'Enter') {
      event.preventDefault()
      run(selected)
    }
  }

  return (
    <Dialog title="Go to or do" onClose={onClose} className="palette">
      <input
        className="input palette-input"
        role="combobox"
        aria-expanded="true"
        aria-controls="palette-list"
        aria-activedescendant={selected === undefined ? undefined : `palette-${selected.id}`}
        aria-label="Page, space or command"
        placeholder="Page, space or command"
        value={text}
        onChange={(event) => {
          setText(event.target.value)
          setActiveIndex(0)
        }}
        onKeyDown={onKeyDown}
      />
      <div id="palette-list" role="listbox" aria-label="Commands" className="palette-list">
        {results.map((command, index) => (
          <div
            key={command.id}
            id={`palette-${command.id}`}
            role="option"
            tabIndex={-1}
            aria-selected={index === selectedIndex}
            className="palette-item"
            onMouseMove={() => setActiveIndex(index)}
            onMouseDown={(event) => {
              event.preventDefault()
              run(command)
            }}
          >
            <Icon name={command.icon} />
            <span className="palette-title">{command.title}</span>
            <span className="faint">{command.keys ?? command.group}</span>
          </div>
        ))}
      </div>
      {results.length === 0 && <p className="faint palette-none">Nothing found.</p>}
    </Dialog>
  )
}

function useCommands(onHelp: () => void): PaletteCommand[] {
  const { spaces } = useSpace()
  return useMemo(
    () => [
      ...PAGES.map(({ id, title, icon, key }) => ({
        id: `page-${id}`,
        title,
        group: 'Page',
        icon,
        keys: `g ${key}`,
        run: () => navigate(pageHref(id)),
      })),
      ...spaces.map(({ slug, name }) => ({
        id: `space-${slug}`,
        title: name,
        group: 'Ask this space',
        icon: 'ask' as const,
        run: () => {
          rememberSpace(slug)
          navigate(pageHref('ask', [], { space: slug }))
        },
      })),
      ...THEMES.map(({ id, ...labels }) => ({
        ...labels,
        id: `theme-${id}`,
        group: 'Theme',
        run: () => setTheme(id),
      })),
      { id: 'help', title: 'Keyboard shortcuts', group: 'Help', icon: 'help' as const, keys: '?', run: onHelp },
      { id: 'sign-out', title: 'Sign out of this tab', group: 'Session', icon: 'leave' as const, run: signOut },
    ],
    [spaces, onHelp],
  )
}

/** Whether every word of the text is a prefix of a word in the title or group. */
function matchesText({ title, group }: PaletteCommand, text: string): boolean {
  const words = `${title} ${group}`.toLowerCase().split(/\s+/)
  return text
    .toLowerCase()
    .split(/\s+/)
    .every((prefix) => words.some((word) => word.startsWith(prefix)))
}
