import ArgumentParser

/// Finds commands that do not exist. ArgumentParser prints the help of the command above for `help` of an unknown one, with exit code 0, and
/// complains about the first option where the command's name is misspelled.
enum CommandName {
    /// - Parameter arguments: without the program's name.
    /// - Throws: `UsageError`.
    static func check(_ arguments: [String]) throws {
        var command: any ParsableCommand.Type = PatchbayCommand.self
        var path = "patchbay"
        for word in arguments.first == "help" ? arguments.dropFirst() : arguments[...] {
            let known = command.configuration.subcommands
            let names = known.map { $0.configuration.commandName ?? "" }
            guard !known.isEmpty, !word.hasPrefix("-") else { return }
            guard let index = names.firstIndex(of: word) else {
                let meant = Suggestion.nearest(to: word, among: names)
                throw UsageError(
                    "there is no command `\(path) \(word)`; \(meant.map { "did you mean `\(path) \($0)`? " } ?? "")"
                        + "`\(path) --help` lists the commands")
            }
            command = known[index]
            path += " " + word
        }
    }
}
