import Logging
import Testing
import Wire

@testable import PatchbayAgents

struct HelperMessageTests {
    @Test func messagesSurviveAnyFragmentation() throws {
        let messages = [
            HelperMessage(.ready, 0, [1, 2, 3]), .init(.part, 7, [UInt8](repeating: 9, count: 300)), .init(.finished, UInt32.max),
        ]
        let bytes = messages.flatMap(\.encoded)
        for size in [1, 2, 5, 9, 100, bytes.count] {
            var decoder = HelperMessage.Decoder()
            var decoded: [HelperMessage] = []
            for start in stride(from: 0, to: bytes.count, by: size) {
                decoder.append(bytes[start..<min(start + size, bytes.count)])
                while let message = try decoder.next() { decoded.append(message) }
            }
            #expect(decoded == messages)
        }
    }

    @Test(arguments: [[0, 0, 0, 4, 16, 0, 0, 0, 0], [255, 255, 255, 255, 16, 0, 0, 0, 0], [0, 0, 0, 5, 99, 0, 0, 0, 0]] as [[UInt8]])
    func malformedMessagesAreErrors(_ bytes: [UInt8]) {
        var decoder = HelperMessage.Decoder()
        decoder.append(bytes)
        #expect(throws: ProviderError.self) { try decoder.next() }
    }
}

struct HelperRequestsTests {
    private func at(_ milliseconds: Int) -> Instant { Instant(nanoseconds: UInt64(milliseconds) * 1_000_000) }

    @Test func requestsWaitForTheProcess() throws {
        var requests = HelperRequests()
        requests.started(at: at(0))
        #expect(try requests.admit(at: at(1)) == (1, false))
        #expect(try requests.admit(at: at(2)) == (2, false))
        #expect(requests.becameReady(at: at(3)) == [1, 2])
        #expect(try requests.admit(at: at(4)) == (3, true))
    }

    @Test func theEndOfTheProcessFailsWhatWasSent() throws {
        var requests = HelperRequests()
        requests.started(at: at(0))
        _ = requests.becameReady(at: at(1))
        _ = try requests.admit(at: at(2))
        #expect(requests.ended() == [1])
        #expect(try requests.admit(at: at(3)) == (2, false))
        requests.started(at: at(4))
        #expect(requests.becameReady(at: at(5)) == [2])
    }

    @Test func aProcessThatDoesNotStartFailsAllRequests() throws {
        var requests = HelperRequests()
        _ = try requests.admit(at: at(0))
        for round in 1...3 {
            requests.started(at: at(round))
            #expect(requests.ended() == (round == 3 ? [1] : []))
        }
        #expect(requests.isUnavailable)
        #expect(throws: ProviderError.self) { try requests.admit(at: at(9)) }
        requests.started(at: at(10))
        _ = requests.becameReady(at: at(11))
        #expect(try requests.admit(at: at(12)) == (2, true))
    }

    @Test func requestsAreLimited() throws {
        var settings = HelperRequests.Settings()
        settings.requestsMax = 2
        var requests = HelperRequests(settings)
        _ = try requests.admit(at: at(0))
        _ = try requests.admit(at: at(0))
        #expect(throws: ProviderError.self) { try requests.admit(at: at(0)) }
        #expect([requests.cancelled(1)] == [false])
        #expect(try requests.admit(at: at(0)) == (3, false))
    }

    @Test func aCancelledRequestCountsUntilTheProcessConfirms() throws {
        var requests = HelperRequests()
        requests.started(at: at(0))
        _ = requests.becameReady(at: at(0))
        _ = try requests.admit(at: at(0))
        #expect([requests.cancelled(1)] == [true])
        // A process that hangs is noticed although every request to it is given up.
        _ = try requests.admit(at: at(4_000))
        #expect([requests.cancelled(2)] == [true])
        #expect(requests.isOverdue(at: at(5_001)))
        requests.finished(1)
        requests.finished(2)
        #expect(!requests.isOverdue(at: at(5_001)))
    }

    @Test func aSilentProcessIsOverdue() throws {
        var requests = HelperRequests()
        requests.started(at: at(0))
        #expect(!requests.isOverdue(at: at(20_000)))
        #expect(requests.isOverdue(at: at(20_001)))
        _ = requests.becameReady(at: at(20_000))
        // Without requests it may be silent.
        #expect(!requests.isOverdue(at: at(90_000)))
        _ = try requests.admit(at: at(90_000))
        #expect(!requests.isOverdue(at: at(95_000)))
        #expect(requests.isOverdue(at: at(95_001)))
        requests.progressed(at: at(95_000))
        #expect(!requests.isOverdue(at: at(96_000)))
    }
}

struct HelperProcessTests {
    private func helper(_ script: String) -> HelperProcess {
        HelperProcess(.init(name: "test", executable: "/bin/sh", arguments: ["-c", script]), logger: Logger(label: "test"))
    }

    private func failure(of helper: HelperProcess) async -> ProviderError? {
        do {
            for try await _ in helper.request([1]) {}
            return nil
        } catch {
            return error as? ProviderError
        }
    }

    @Test(.timeLimit(.minutes(5))) func aProgramThatDoesNotStartIsUnavailable() async {
        let error = await failure(of: helper("echo 'no such model' >&2; exit 3"))
        #expect(error?.code == .unavailable)
        #expect(error?.message.contains("no such model") == true)
    }

    @Test(.timeLimit(.minutes(5))) func aMissingProgramIsUnavailable() async {
        let helper = HelperProcess(.init(name: "test", executable: "/nowhere/python", arguments: []), logger: Logger(label: "test"))
        #expect(await failure(of: helper)?.code == .unavailable)
    }

    @Test(.timeLimit(.minutes(5))) func aProgramThatWritesRubbishIsUnavailable() async {
        #expect(await failure(of: helper("echo 'Hello, I am not a helper.'; sleep 60"))?.code == .unavailable)
    }

    @Test func aCancelledRequestIsForgotten() async throws {
        let helper = helper("sleep 60")
        let reading = Task { for try await _ in helper.request([1]) {} }
        reading.cancel()
        try await reading.value
    }
}
