/// The style sheet of HTML reports, with light and dark colours.
enum HTMLStyle {
    static let text = """
        :root { color-scheme: light dark; --page: #fcfcfb; --ink: #1d1d1b; --soft: #6b6a66; --line: #e4e3df; --card: #ffffff;
          --s1: #2a78d6; --s2: #eb6834; --good: #0a7d33; --bad: #c62828; --warn: #9a6700; }
        @media (prefers-color-scheme: dark) { :root { --page: #161615; --ink: #eeedea; --soft: #a3a29d; --line: #33322f; --card: #1e1e1c;
          --s1: #4f98ec; --s2: #e8794a; --good: #4cc27a; --bad: #ff7b72; --warn: #e3b341; } }
        * { box-sizing: border-box; }
        body { margin: 0 auto; padding: 2rem 1.25rem; max-width: 1100px; background: var(--page); color: var(--ink);
          font: 15px/1.5 system-ui, -apple-system, "Segoe UI", sans-serif; }
        h1 { margin: 0; font-size: 1.6rem; }
        .sub { margin: 0 0 1rem; color: var(--soft); }
        .verdict { margin: .25rem 0; font-weight: 600; }
        .good { color: var(--good); } .bad { color: var(--bad); } .warn { color: var(--warn); }
        .tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(140px, 1fr)); gap: .75rem; margin: 1.25rem 0; }
        .tile, figure { background: var(--card); border: 1px solid var(--line); border-radius: 8px; }
        .tile { padding: .75rem .9rem; }
        .tile b { display: block; font-size: 1.35rem; font-weight: 600; }
        .tile span { color: var(--soft); font-size: .85rem; }
        .plots { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 480px), 1fr)); gap: 1rem; }
        figure { margin: 0; padding: .9rem; }
        figcaption { font-weight: 600; margin-bottom: .4rem; }
        figcaption small { font-weight: 400; color: var(--soft); }
        .key { float: right; margin-left: 1rem; font-weight: 400; font-size: .85rem; color: var(--soft); }
        .key::before { content: ""; display: inline-block; width: 10px; height: 10px; border-radius: 3px; margin-right: .35rem; background: var(--c); }
        svg { display: block; width: 100%; height: auto; }
        svg text { fill: var(--soft); font-size: 11px; font-variant-numeric: tabular-nums; }
        .y, .unit { text-anchor: end; } .x { text-anchor: middle; }
        .grid { stroke: var(--line); stroke-width: 1; }
        .s1 { --c: var(--s1); } .s2 { --c: var(--s2); }
        .line { fill: none; stroke: var(--c); stroke-width: 2; stroke-linejoin: round; }
        .hit { fill: transparent; } .hit:hover { fill: var(--c); }
        .dot { fill: var(--c); fill-opacity: .55; } .dot:hover { fill-opacity: 1; }
        .bar { fill: var(--c); } .bar:hover { fill-opacity: .75; }
        .none { color: var(--soft); }
        details { margin-top: 1.5rem; } summary { cursor: pointer; }
        pre { overflow-x: auto; font-size: 13px; }
        """
}
