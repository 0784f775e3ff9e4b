import Foundation

/// Files of this package, for tests that compare documents and samples with the gateway.
enum Repository {
    static func path(_ file: String) -> String {
        var root = URL(filePath: #filePath)
        for _ in 1...4 { root.deleteLastPathComponent() }
        return root.appending(path: file).path
    }
}
