import Foundation
import PackagePlugin

/// Adds the files of the folder `Web` to a target, as a Swift source that `scripts/embed-web-pages` generates.
///
/// A script, because a Swift program would be built with the flags of the products that need it, such as those of the fuzzer.
@main
struct EmbedWebPages: BuildToolPlugin {
    func createBuildCommands(context: PluginContext, target: any Target) throws -> [Command] {
        let package = context.package.directoryURL
        let folder = package.appending(path: "Web")
        let script = package.appending(path: "scripts/embed-web-pages")
        let bundler = package.appending(path: "scripts/bundle-web")
        let output = context.pluginWorkDirectoryURL.appending(path: "EmbeddedFiles.swift")
        let contents = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil, options: [.skipsHiddenFiles])
        // Folders are inputs too: they change when a file is added or removed.
        let paths = (contents?.compactMap { ($0 as? URL)?.path } ?? []).sorted()
        let inputs = [script, bundler, folder] + paths.map { URL(filePath: $0, directoryHint: .notDirectory) }
        return [
            .buildCommand(
                displayName: "Embedding the web pages", executable: URL(filePath: "/bin/sh"),
                arguments: [script.path, folder.path, output.path], inputFiles: inputs, outputFiles: [output])
        ]
    }
}
