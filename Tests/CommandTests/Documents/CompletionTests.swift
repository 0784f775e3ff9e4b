import Foundation
import Testing

/// Completions of the command, as the package installs them, in their shells.
@Suite(.timeLimit(.minutes(2)))
struct CompletionTests {
    /// Each prints the completions of `patchbay ser` and `patchbay serve --log-f`. `$0` is the program.
    private static let scripts = [
        "bash": #"""
        eval "$("$0" --generate-completion-script bash)"
        function=$(complete -p patchbay | sed 's/.*-F \([^ ]*\) .*/\1/')
        complete_last() {
            COMPREPLY=() COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMP_LINE="$*" COMP_POINT=${#COMP_LINE}
            $function "$1" "${@: -1}" "${@: -2:1}"
            echo "${COMPREPLY[@]}"
        }
        complete_last patchbay ser
        complete_last patchbay serve --log-f
        """#,
        "zsh": """
        zmodload zsh/zpty
        folder=$(mktemp -d)
        trap 'rm -rf "$folder"' EXIT
        "$0" --generate-completion-script zsh >"$folder/_patchbay"
        zsh -n "$folder/_patchbay"
        # `compadd` prints what would be offered. Completion works only in an interactive shell on a terminal.
        zpty shell zsh -f -i
        zpty -w shell "PROMPT= fpath=($folder \\$fpath); autoload -Uz compinit; compinit -u -d $folder/dump"
        zpty -w shell "zstyle ':completion:*' menu no; setopt no_beep no_list_ambiguous; bindkey '^I' complete-word"
        zpty -w shell "print -r -- comps:\\$_comps[patchbay]"
        zpty -r -m shell line '*comps:_patchbay*' && print -r -- "$line"
        zpty -w -n shell $'patchbay ser\\t'
        zpty -r -m shell line '*patchbay serve*' && print -r -- "$line"
        zpty -w -n shell $' --log-f\\t'
        zpty -r -m shell line '*--log-format*' && print -r -- "$line"
        zpty -d shell
        """,
        "fish": """
        eval "$argv[1] --generate-completion-script fish | source"
        complete -C 'patchbay ser'
        complete -C 'patchbay serve --log-f'
        """,
    ]

    @Test(arguments: ["bash", "zsh", "fish"]) func completionsWorkInTheirShell(shell: String) async throws {
        let found = try await Program.run(URL(filePath: "/usr/bin/env"), ["sh", "-c", "command -v \(shell)"], seconds: 20)
        guard found.status == 0 else {
            // `scripts/setup` installs the shells on Debian and Ubuntu.
            #expect(!FileManager.default.fileExists(atPath: "/etc/debian_version"), "there is no \(shell); run scripts/setup")
            return print("the completions of \(shell) were NOT CHECKED, because this machine has no \(shell)")
        }
        let script = try #require(Self.scripts[shell])
        let program = try Program.executable.path
        let arguments =
            switch shell {
            case "bash": ["bash", "--norc", "-c", script, program]
            case "zsh": ["zsh", "-f", "-e", "-c", script, program]
            default: ["fish", "--no-config", "-c", script, program]
            }
        let outcome = try await Program.run(URL(filePath: "/usr/bin/env"), arguments, seconds: 60)
        #expect(outcome.status == 0, "\(outcome.output)\(outcome.complaint)")
        let lines = outcome.output.split(separator: "\n")
        #expect(lines.contains { $0.contains("serve") && !$0.contains("token") }, "\(outcome.output)\(outcome.complaint)")
        #expect(lines.contains { $0.contains("--log-format") && !$0.contains("--log-level") }, "\(outcome.output)\(outcome.complaint)")
    }
}
