// swift-tools-version: 6.2

import PackageDescription

let package = Package(
    name: "CallKitPhone",
    platforms: [.iOS(.v18), .macOS(.v15)],
    products: [.library(name: "CallKitPhone", targets: ["CallKitPhone"])],
    dependencies: [.package(name: "patchbay", path: "../..", traits: [])],
    targets: [
        .target(name: "CallKitPhone", dependencies: [.product(name: "PatchbayClient", package: "patchbay")])
    ])
