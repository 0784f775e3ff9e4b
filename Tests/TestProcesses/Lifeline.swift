package import Foundation
internal import Glibc

/// A shell between the tests and a process of theirs. It gets the end of its input when this value is released or the tests end, however
/// they end, and can then end the process.
package struct Lifeline: Sendable {
    package let shell: Process
    package let input: FileHandle

    /// Runs a script with a command as its arguments.
    package init(_ script: String, _ command: [String]) throws {
        // Closed on exec: no other process keeps the input open.
        var ends: [Int32] = [0, 0]
        guard pipe(&ends) == 0 else { throw ProcessFailure(command: "pipe") }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        shell = Process()
        // Processes of Foundation may start with blocked signals, with which `wait` of dash never returns.
        shell.executableURL = URL(filePath: "/bin/bash")
        shell.arguments = ["-c", script, "bash"] + command
        shell.currentDirectoryURL = URL(filePath: "/")
        shell.environment = ["PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C"]
        shell.standardInput = FileHandle(fileDescriptor: ends[0], closeOnDealloc: true)
        shell.standardOutput = FileHandle.nullDevice
        shell.standardError = FileHandle.nullDevice
        try shell.run()
        input = FileHandle(fileDescriptor: ends[1], closeOnDealloc: true)
    }

    /// Closes the input and waits for the shell.
    package func end() {
        try? input.close()
        shell.waitUntilExit()
    }

    /// Runs a command to its end.
    ///
    /// - Throws: `ProcessFailure` if it fails.
    package static func run(_ command: [String]) throws {
        let run = try Lifeline(#""$@""#, command)
        run.shell.waitUntilExit()
        guard run.shell.terminationStatus == 0 else { throw ProcessFailure(command: command[0]) }
    }

    /// Makes a certificate that is its own authority, valid for two days.
    ///
    /// - Parameter name: a subject alternative name, such as `DNS:localhost` or `IP:127.0.0.1`.
    package static func makeCertificate(for name: String, at path: String, keyPath: String) throws {
        try run([
            "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
            "-keyout", keyPath, "-out", path, "-subj", "/CN=test", "-addext", "subjectAltName=\(name)",
        ])
    }
}

package struct ProcessFailure: Error {
    package let command: String
}
