import Foundation
import FuzzBodies
import Testing

/// Fuzzing seeds and earlier findings as ordinary tests: each body returns for any input.
struct FuzzCaseTests {
    @Test(arguments: FuzzTarget.allCases) func seedsAreRead(target: FuzzTarget) {
        for seed in target.seeds { target.run(seed) }
    }

    @Test(arguments: FuzzTarget.allCases) func whatWasOnceFoundIsReadToo(target: FuzzTarget) throws {
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appending(path: "../../fuzz/cases/\(target.rawValue)")
        let files = (try? FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)) ?? []
        for file in files { target.run(Array(try Data(contentsOf: file))) }
    }
}
