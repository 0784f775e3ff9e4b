// The talk over the whole screen.

import { css } from './sheet.js'

export const talk = css`
  .talk {
    position: fixed;
    inset: 0;
    display: grid;
    grid-template: auto minmax(0, 1fr) auto / minmax(0, 1fr);
    width: 100vw;
    max-width: none;
    height: 100dvh;
    max-height: none;
    margin: 0;
    padding: env(safe-area-inset-top) env(safe-area-inset-right) env(safe-area-inset-bottom) env(safe-area-inset-left);
    overflow: hidden;
    border: none;
    background: var(--patchbay-talk-surface, light-dark(#fbfcfd, #0e1013));
    color: var(--text);
  }

  .talk:not([open]) { display: none; }
  .talk::backdrop { background: none; }

  .talk .header { z-index: 1; padding: 12px 16px; }
  .talk .header h2 { font-size: 16px; }
  .talk .header .icon-button { color: var(--text); }

  .talk-body {
    z-index: 1;
    display: flex;
    flex-direction: column;
    gap: 20px;
    width: min(720px, 100%);
    min-height: 0;
    margin-inline: auto;
    padding: 8px 20px;
    overflow: auto;
    scrollbar-width: thin;
  }

  .talk-body > .cards { flex: none; }

  .talk .stage {
    display: flex;
    flex: 1;
    flex-direction: column;
    justify-content: center;
    min-height: 0;
  }

  .talk .caption { width: fit-content; max-width: 100%; max-height: 100%; margin-inline: auto; padding-block: 4px; }
  .talk .caption-speaker { margin-block-end: 12px; font-size: 15px; }
  .talk .caption-text, .talk-hint { font-size: clamp(26px, 4.6vw, 42px); font-weight: 600; letter-spacing: -0.015em; line-height: 1.25; }
  .talk .caption[data-kind='user'] .caption-text { font-size: clamp(21px, 3.4vw, 30px); font-weight: 500; }
  .talk .caption[data-long] .caption-text { font-size: clamp(20px, 2.8vw, 27px); font-weight: 550; letter-spacing: -0.005em; line-height: 1.4; }
  .talk[data-has-cards] .caption-text { font-size: clamp(19px, 2.4vw, 24px); }
  .talk-hint { color: var(--text-quiet); text-align: center; }

  .talk .cards { width: min(520px, 100%); margin-inline: auto; }
  .talk .transcript { flex: 1; }
  .talk .lines { width: min(640px, 100%); margin-inline: auto; padding-inline: 4px; }
  .talk .lines li[data-kind='user'] p { background: color-mix(in srgb, var(--text) 8%, var(--surface)); }

  .talk .problem { width: min(460px, 100%); margin: auto; overflow: auto; }
  .talk .problem-content { gap: 10px; }
  .talk .problem-icon { width: 56px; height: 56px; margin-block-end: 6px; }
  .talk .problem-icon .icon { width: 28px; height: 28px; }
  .talk .problem h2 { font-size: 24px; line-height: 1.3; letter-spacing: -0.01em; }
  .talk .problem .steps { gap: 8px; }
  .talk .problem .actions { margin-block-start: 16px; }

  .talk-foot {
    z-index: 1;
    display: grid;
    grid-template-columns: minmax(0, 1fr);
    gap: 16px;
    width: min(640px, 100%);
    margin-inline: auto;
    padding: 12px 20px 28px;
  }

  /* Over the shapes, quiet text would be too faint. */
  .talk .status { color: var(--text); font-size: 16px; }
  .talk .button.round { width: 52px; min-height: 52px; }
  .talk .composer .button.round { width: 44px; min-height: 44px; }
  .talk .button.stop { min-width: 168px; min-height: 60px; border-radius: 30px; font-size: 16px; }
  .talk .waveform { height: 24px; }
  .talk .controls { gap: 24px; }
  .talk .chip { background: color-mix(in srgb, var(--text) 7%, var(--surface)); }

  .voice-menu { position: relative; display: flex; align-items: center; gap: 8px; }
  .voice-menu label { color: var(--text-quiet); font-size: 14px; }
  .voice-menu select { min-height: 36px; padding: 4px 10px; border-radius: 18px; background: var(--surface); }

  .voice-menu .hint {
    position: absolute;
    inset-block-start: calc(100% + 6px);
    inset-inline-end: 0;
    color: var(--text-quiet);
    font-size: 13px;
    white-space: nowrap;
  }

  /* Soft shapes, faint enough for the text above them, and stronger in colour, as they are. */
  .ambience {
    --glow-1: light-dark(oklch(from var(--color-1) l calc(c * 1.5) h), oklch(from var(--color-1) calc(l * 0.72) calc(c * 1.9) h));
    --glow-2: light-dark(oklch(from var(--color-2) l calc(c * 1.5) h), oklch(from var(--color-2) calc(l * 0.72) calc(c * 1.9) h));
    --glow-3: light-dark(oklch(from var(--color-3) l calc(c * 1.5) h), oklch(from var(--color-3) calc(l * 0.72) calc(c * 1.9) h));
    position: absolute;
    inset: 0;
    overflow: hidden;
    pointer-events: none;
  }

  .shape {
    position: absolute;
    width: 78vmax;
    height: 78vmax;
    border-radius: 50%;
    opacity: calc(0.16 + 0.22 * var(--level, 0));
    scale: calc(0.82 + 0.34 * var(--level, 0));
    animation: drift 19s ease-in-out infinite alternate;
  }

  .shape.one { inset-block-end: -48vmax; inset-inline-start: -18vmax; background: radial-gradient(closest-side, var(--glow-1), transparent); }
  .shape.two { inset-block-end: -52vmax; inset-inline-end: -16vmax; background: radial-gradient(closest-side, var(--glow-2), transparent); animation-duration: 23s; animation-delay: -7s; }
  .shape.three { inset-block-end: -58vmax; inset-inline-start: 14vmax; background: radial-gradient(closest-side, var(--glow-3), transparent); animation-duration: 29s; animation-delay: -13s; }

  @keyframes drift {
    from { transform: translate(-3vmax, 1vmax); }
    to { transform: translate(4vmax, -3vmax); }
  }

  .talk[data-connecting] .shape { opacity: 0.1; }

  @media (max-width: 480px) {
    .voice-menu label { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
    /* As wide as the header: in some languages it is long. */
    .talk .header { position: relative; }
    .voice-menu { position: static; }
    .voice-menu .hint { inset-block-start: calc(100% - 6px); inset-inline: 16px; text-align: end; white-space: normal; }
    .talk-foot { padding-block-end: 20px; }
    .talk .controls { gap: 14px; }
    .talk .button.stop { min-width: 144px; }
  }

  @media (max-height: 700px) {
    .talk[data-has-cards] .stage { display: none; }
  }

  @media (max-height: 560px) {
    .talk-foot { gap: 8px; padding-block: 4px 12px; }
    .talk .button.stop { min-height: 48px; }
    .talk .quick { flex-wrap: nowrap; justify-content: safe center; }
    .talk .chip { flex: none; }
  }
`
