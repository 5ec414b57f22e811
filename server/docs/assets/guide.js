/* A copy button on every code block of the guide. */
for (const block of document.querySelectorAll('main pre')) {
  const frame = document.createElement('div')
  frame.className = 'code'
  block.replaceWith(frame)
  const button = document.createElement('button')
  button.type = 'button'
  button.textContent = 'Copy'
  button.setAttribute('aria-label', 'Copy this code')
  button.addEventListener('click', () => copy(block, button))
  frame.append(block, button)
}

/** Copies, or selects the text where the browser lets nothing be copied: a page without TLS has no clipboard. */
async function copy(block, button) {
  const text = block.textContent.replace(/\n$/, '')
  try {
    await navigator.clipboard.writeText(text)
    button.textContent = 'Copied'
  } catch {
    getSelection().selectAllChildren(block)
    button.textContent = 'Selected'
  }
  setTimeout(() => { button.textContent = 'Copy' }, 2000)
}
