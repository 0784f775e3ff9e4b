import Foundation
import Gateway
import Glibc
import Sockets
import Testing

/// The gateway's reading of requests compared with that of h11, a strict parser.
@Suite(.onOwnThread, .serialized, .timeLimit(.minutes(5)))
struct RequestDifferenceTests {
    @Test func aStrictParserSeesNoOtherRequests() throws {
        let python = Repository.path(".venv-interop/bin/python")
        try #require(
            FileManager.default.isExecutableFile(atPath: python),
            "this test needs the Python environment of the interop tests: run `make interop` (or `make test`, which does it)")
        let gateway = try TestGateway {
            $0.edge.plain = EdgeSettings.Place(host: "127.0.0.1", port: 0)
            $0.edge.proxies = ProxyTrust(networks: try! [IPNetwork("127.0.0.0/8")])
            // Incomplete requests end after this time.
            $0.handshakeSecondsMax = 3
        }
        let process = Process()
        process.executableURL = URL(filePath: python)
        process.arguments = [
            Repository.path("Tests/Interop/fuzzing/requests_h11.py"), "--url", "https://127.0.0.1:\(gateway.port)", "--plain-url",
            "http://127.0.0.1:\(gateway.gateway.plainPort ?? 0)", "--ca", Certificate.usual.files.certificatePath, "--seed", "1",
            "--mutations",
            "300",
        ]
        let output = Pipe()
        process.standardOutput = output
        process.standardError = output
        try process.run()
        let pid = process.processIdentifier
        DispatchQueue.global().asyncAfter(deadline: .now() + 240) { [weak process] in
            if process?.isRunning == true { kill(pid, SIGKILL) }
        }
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        #expect(process.terminationStatus == 0, "\(text)")
    }
}
